"""The collector: takes reports in, once each, and keeps them."""
