\set order random(1, :orders)
\set status choice('pending', 'paid', 'refunded', 'failed', 'disputed')
UPDATE orders SET status = :status WHERE id = :order;
