"""From evidence to weights: mining rows to train on, with a guard over what is held out for testing."""
