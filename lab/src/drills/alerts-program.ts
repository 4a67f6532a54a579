/** `npm run lab -- drill alerts`: alert rules over running services that are in trouble. */
import { runDrill } from './program.ts';

await runDrill(
  'alerts',
  `Starts a Prometheus (package prometheus) over both services with the rules of deploy/prometheus in a shorter time, provokes trouble,
and waits for the alerts. Rules that need a full disk or a slow database are tried with promtool only (deploy/prometheus/alerts.test.yml).`,
  async () => (await import('./alerts.ts')).runAlerts,
);
