/** `npm run lab -- drill alerts`: alert rules over running services that are in trouble. */
import { runDrill } from './program.ts';

await runDrill(
  'alerts',
  `Starts Prometheus (package prometheus) for both services, with the rules of deploy/prometheus and shorter times. It then causes problems,
and waits for the alerts. Rules about a full disk or a slow database are tested only with promtool (deploy/prometheus/alerts.test.yml).`,
  async () => (await import('./alerts.ts')).runAlerts,
);
