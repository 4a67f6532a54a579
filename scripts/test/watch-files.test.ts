/** The Grafana dashboard and the alert rules fit the metrics. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { METRICS } from '@basa/service';
import { describe, expect, it } from 'vitest';

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

interface Metric {
  readonly type: string;
  readonly labels: readonly string[];
}
const metrics: Readonly<Record<string, Metric | undefined>> = METRICS;
/** The labels that Prometheus adds. */
const EVERYWHERE = ['job', 'instance'];

/** Everything in a query that fits no metric: names, and labels in selectors and groups. */
function misfits(query: string): readonly string[] {
  const bare = query.replaceAll(/"[^"]*"/g, '""');
  const named = [...bare.matchAll(/\b((?:basa|process)_\w+)(?:\{([^}]*)\})?/g)];
  const known = named.map(([, name = '']) => metricOf(name));
  const allowed = new Set([...EVERYWHERE, ...known.flatMap((metric) => metric?.labels ?? [])]);
  const groups = [...bare.matchAll(/\b(?:by|on|without) *\(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(/ *, */),
  );
  return [
    ...(named.length === 0 && !bare.includes('up') ? [`no metric in ${query}`] : []),
    ...named.flatMap(([, name = '', selector = ''], n) => {
      const metric = known[n];
      if (metric === undefined) return [name];
      const labels = [...selector.matchAll(/(\w+) *[=!]/g)].map(([, label = '']) => label);
      return labels
        .filter((label) => ![...EVERYWHERE, ...metric.labels].includes(label))
        .map((label) => `${name}: ${label}`);
    }),
    ...groups.filter((label) => label !== '' && !allowed.has(label)).map((label) => `by ${label}`),
  ];
}

function metricOf(name: string): Metric | undefined {
  const [, base = '', part] = /^(.*?)(_bucket|_sum|_count)?$/.exec(name) ?? [];
  const histogram = metrics[base];
  if (part === undefined) return histogram?.type === 'histogram' ? undefined : histogram;
  if (histogram?.type !== 'histogram') return undefined;
  return part === '_bucket' ? { ...histogram, labels: [...histogram.labels, 'le'] } : histogram;
}

describe('the Grafana dashboard', () => {
  const dashboard = JSON.parse(textOf('deploy/grafana/basa.json')) as {
    readonly panels: readonly {
      readonly title: string;
      readonly type: string;
      readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
      readonly targets?: readonly { readonly expr: string }[];
    }[];
    readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
  };
  const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

  it('asks for metrics and labels that there are', () => {
    expect(queries.length).toBeGreaterThan(20);
    expect(queries.flatMap(misfits)).toEqual([]);
    const task = dashboard.templating.list.find(({ name }) => name === 'task');
    expect(misfits(task?.query.replace('label_values', '') ?? '')).toEqual([]);
  });

  it('shows every metric of the protocol', () => {
    const shown = new Set(queries.flatMap((query) => [...query.matchAll(/\bbasa_\w+/g)].map(([name]) => name)));
    const isShown = (name: string) => ['', '_bucket', '_sum', '_count'].some((part) => shown.has(name + part));
    expect(Object.keys(METRICS).filter((name) => name.startsWith('basa_') && !isShown(name))).toEqual([]);
  });

  it('has panels that do not overlap', () => {
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, n) => `${x + (n % w)} ${y + Math.floor(n / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });
});

describe('the alert rules', () => {
  const rules = textOf('deploy/prometheus/alerts.yml')
    .split(/^ *- alert: /m)
    .slice(1);

  it('ask for metrics and labels that there are', () => {
    expect(rules.length).toBeGreaterThan(8);
    expect(rules.flatMap((rule) => misfits(/^ *expr: (.*)$/m.exec(rule)?.[1] ?? ''))).toEqual([]);
  });

  const tried = textOf('deploy/prometheus/alerts.test.yml');

  it('are all tried, with series that there are', () => {
    const names = rules.map((rule) => rule.split('\n')[0] ?? '');
    expect(names.filter((name) => !tried.includes(`alertname="${name}"`))).toEqual([]);
    const series = [...tried.matchAll(/series: '((?:basa|process)_[^']*)'/g)].map(([, one = '']) => one);
    expect(series.length).toBeGreaterThan(20);
    expect(series.flatMap(misfits)).toEqual([]);
  });

  it('fire when their trouble is there and not before, by the word of promtool if this machine has it', () => {
    const folder = fileURLToPath(new URL('../../deploy/prometheus', import.meta.url));
    const { error, status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'alerts.test.yml'], {
      cwd: folder,
      encoding: 'utf8',
    });
    if (error !== undefined)
      console.log('promtool is not here, so no rule was evaluated; it is in the package prometheus');
    else expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });

  it('say what to do', () => {
    for (const rule of rules) {
      expect(rule).toMatch(/severity: (page|ticket)\b/);
      expect(rule).toMatch(/summary: .+/);
      expect(rule).toMatch(/todo: .+/);
    }
  });
});

it('a query that fits no metric is found', () => {
  expect(misfits('rate(basa_nothing_total[5m])')).toEqual(['basa_nothing_total']);
  expect(misfits('sum by (device) (basa_shots{user="a"})')).toEqual(['basa_shots: user', 'by device']);
  expect(misfits('basa_commit_seconds')).toEqual(['basa_commit_seconds']);
});
