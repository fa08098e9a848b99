"""Which calls are allowed, asked about, or denied."""
