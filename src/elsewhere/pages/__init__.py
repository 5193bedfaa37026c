"""Self-contained offline HTML pages."""
