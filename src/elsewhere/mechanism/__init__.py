"""The trusted core: the only code that sees a trajectory and spends ε."""
