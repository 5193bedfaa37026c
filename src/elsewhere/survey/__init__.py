"""What many devices are asked: questions about a day, one report for it, the file that says it all."""
