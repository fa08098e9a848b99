"""The outside worlds: each adapter depends on the decision, none on another adapter."""
