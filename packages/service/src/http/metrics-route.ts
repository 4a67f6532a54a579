/** `/metrics` in the text format of Prometheus, for the readers that the operator allows. */

import { METRICS_MEDIA_TYPE } from '../metrics/metrics.ts';
import type { RequireRole } from './operators.ts';
import type { ServiceApp } from './service-app.ts';
import type { ServiceSettings } from './service-options.ts';

export function mountMetrics(
  app: ServiceApp,
  { metrics, metricsAccess }: Pick<ServiceSettings, 'metrics' | 'metricsAccess'>,
  requireRole: RequireRole,
): void {
  if (metrics === undefined || metricsAccess === 'off') return;
  const onRequest = metricsAccess === 'token' ? requireRole('metrics', 'operator', 'admin') : [];
  app.get('/metrics', { onRequest, schema: { hide: true } }, async (_, reply) =>
    reply
      .type(METRICS_MEDIA_TYPE)
      .header('cache-control', 'no-store')
      .send(await metrics.text()),
  );
}
