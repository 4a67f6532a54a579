/** `npm run write -- metrics`: writes docs/metrics.md anew from the table of metrics. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { metricsPage } from './reference/metrics-page.ts';

writeFileSync(fileURLToPath(new URL('../docs/metrics.md', import.meta.url)), metricsPage());
console.log('docs/metrics.md');
