"""The verb `view`: all rows of a judged file in a browser, to read and to label."""
