/** Every metric of both services, from the table that they count by. */
import { METRICS } from '@basa/service';

const PARTS = [
  ['both', 'Both services'],
  ['server', 'Server'],
  ['authority', 'Authority'],
] as const;

const HEAD = `# Metrics

Both services answer \`GET /metrics\` in the text format of Prometheus; [operations](../operations.md#monitoring) describes access
and scraping. Counters and histograms belong to one process and start again with it; gauges are read from its memory. With several nodes
each counts its own work, and all show the same batches: use \`sum\` for counters and \`max\` for gauges.

\`task\` is the name of a task and the first 8 digits of its id. \`step\` is the purpose of a request: \`upload\`, \`upload-offset\`, \`model\`,
\`newest-model\`, \`fate\` at the server; \`standing\`, \`inspect\`, \`vote\`, \`release\`, \`outcome\`, \`log\`, \`model-entry\`,
\`newest-model\`, \`enrol\` at the authority; \`probe\`, \`scrape\` and \`other\` at both. \`reason\` is the code of a problem document ([refusals](refusals.md)). No label names a device,
a batch or an address.
`;

const TAIL = `
## Not measured here

| quantity | found |
|---|---|
| staleness of single updates, clipped ratio | on the device, which applies both inside the mask: the client's event \`quantized\` |
| time to mask, seal and upload | on the device: \`costs\` of the client's event \`accepted\` |
| participants | in no metric; operators can ask \`GET /v1/batches/{ctx}\` |
`;

export function metricsPage(): string {
  return HEAD + PARTS.map(([on, title]) => `\n## ${title}\n\n${tableOf(on)}`).join('') + TAIL;
}

function tableOf(part: (typeof PARTS)[number][0]): string {
  const rows = Object.entries(METRICS)
    .filter(([, { on }]) => on === part)
    .map(([name, { type, labels, help }]) => `| \`${name}\` | ${type} | ${labelsOf(labels)} | ${help} |\n`);
  return `| name | type | labels | |\n|---|---|---|---|\n${rows.join('')}`;
}

function labelsOf(labels: readonly string[]): string {
  return labels.map((label) => `\`${label}\``).join(', ');
}
