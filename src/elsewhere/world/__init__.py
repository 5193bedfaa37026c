"""Everything public, built once from knowledge: regions, distances, feasible n-grams, one file."""
