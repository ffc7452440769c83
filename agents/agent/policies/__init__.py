"""How an agent acts: the policy that plans, and the two that are made of it."""
