"""Public tables in: places, categories, travel, roads, timetables."""
