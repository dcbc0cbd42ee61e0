-- One insert in autocommit, or with :batch above 1 that many in one transaction.
-- Of the two halves one runs no times and the other once: a transaction around a
-- single insert would be another operation.
\repeat if(:batch > 1, 0, 1)
\set payload format('event %d of worker %d', :op, :connection)
INSERT INTO events (worker_id, seq, payload) VALUES (:connection, :op, :payload);
\end

\repeat if(:batch > 1, 1, 0)
\begin write
\repeat :batch AS i
\set seq :op * :batch + :i - 1
\set payload format('event %d of worker %d', :seq, :connection)
INSERT INTO events (worker_id, seq, payload) VALUES (:connection, :seq, :payload);
\end
\commit
\end
