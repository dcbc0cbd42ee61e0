-- One week, 604800 s.
\set status choice('pending', 'paid', 'refunded', 'failed', 'disputed')
\set start 1735689600 + random(0, 28000000)
\set stop :start + 604800
SELECT status, count(*), sum(amount_cents)
FROM orders WHERE status = :status AND created_at >= :start AND created_at < :stop GROUP BY status;
