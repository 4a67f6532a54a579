/** The metrics of a database. */
import type { SqlWatch } from '../sql/sql.ts';
import type { Metrics } from './metrics.ts';

export function countDatabase(metrics: Metrics): Required<SqlWatch> {
  return {
    onCommit: (seconds) => metrics.observe('basa_commit_seconds', {}, seconds),
    onRetry: () => metrics.count('basa_database_retries_total', {}),
  };
}
