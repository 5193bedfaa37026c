"""The paper's whole evaluation, remade with one command."""
