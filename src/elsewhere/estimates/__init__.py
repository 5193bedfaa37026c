"""From reports to what is so, with honest intervals: nothing here ever sees a day."""
