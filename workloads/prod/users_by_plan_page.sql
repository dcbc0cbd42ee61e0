-- One page of a list that goes on where the last page ended.
\set plan choice('free', 'starter', 'pro', 'enterprise')
\set after 1735689600 + random(0, 31535999)
SELECT id, email, name, created_at
FROM users WHERE plan = :plan AND created_at > :after ORDER BY created_at LIMIT 25;
