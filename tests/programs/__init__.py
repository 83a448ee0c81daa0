"""Programs that measure, install and resolve; the test suite does not run them whole."""
