-- Times are seconds since 1970; 1735689600 is 2025-01-01, 2592000 s are 30 days.
\rows users :users CHUNK 25000
\set created 1735689600 + random(0, 31535999)
\set seen :created + random(0, 2592000)
\set email format('user%d@example.com', :row)
\set name format('User Number %d', :row)
\set plan choice('free', 'starter', 'pro', 'enterprise')
\set country choice('US', 'GB', 'FR', 'DE', 'JP', 'BR', 'IN', 'CA', 'AU', 'NG')
INSERT INTO users (id, email, name, plan, country, created_at, last_seen_at)
VALUES (:row, :email, :name, :plan, :country, :created, :seen);

\repeat :orders_per_user AS n
\set order (:row - 1) * :orders_per_user + :n
\set status choice('pending', 'paid', 'refunded', 'failed', 'disputed')
\set amount random(100, 50099)
\set ordered :created + random(0, 2592000)
\set address format('%d.%d.%d.%d', random(1, 223), random(0, 255), random(0, 255), random(1, 254))
\set metadata format('{"source":"%s","campaign":"c-%d","ip":"%s","agent":"Mozilla/5.0 (X11; Linux x86_64)","reference":"ORD-%010d","retries":%d}', \
                     choice('web', 'mobile'), random(1, 400), :address, :order, random(0, 2))
INSERT INTO orders (id, user_id, status, amount_cents, currency, created_at, metadata)
VALUES (:order, :row, :status, :amount, 'USD', :ordered, :metadata);
\end
\end

CREATE UNIQUE INDEX users_email ON users (email);
CREATE INDEX users_plan_created ON users (plan, created_at);
CREATE INDEX orders_user_created ON orders (user_id, created_at);
CREATE INDEX orders_status_created ON orders (status, created_at);
