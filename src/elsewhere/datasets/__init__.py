"""Raw sources turned into places, categories and trajectories."""
