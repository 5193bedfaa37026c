"""What everybody may know: time, categories, opening hours, places, travel."""
