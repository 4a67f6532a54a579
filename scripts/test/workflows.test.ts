/** The files for GitHub and development containers can be read, and run scripts that exist. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const { scripts } = JSON.parse(textOf('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
const files = readdirSync(join(ROOT, '.github'), { recursive: true, encoding: 'utf8' });

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps: readonly { readonly run?: string }[] }>>;
}

it.each(files.filter((file) => file.startsWith('workflows/')))(
  '.github/%s runs scripts that package.json has',
  (file) => {
    const { jobs } = parse(textOf(`.github/${file}`)) as Workflow;
    const lines = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run = '' }) => run.split('\n')));
    const named = lines.flatMap((line) => [...line.matchAll(/\bnpm (?:run )?(?!ci\b|install\b|run\b)([a-z][\w:]*)/g)]);
    expect(named.length).toBeGreaterThan(1);
    expect(named.map(([, script = '']) => script).filter((script) => !(script in scripts))).toEqual([]);
  },
);

it.each(files.filter((file) => file.startsWith('ISSUE_TEMPLATE/')))('.github/%s is YAML', (file) => {
  expect(parse(textOf(`.github/${file}`))).toBeTypeOf('object');
});

it('the development container installs what the tests need', () => {
  const { onCreateCommand } = JSON.parse(textOf('.devcontainer/devcontainer.json')) as { onCreateCommand: string };
  for (const word of ['chromium', 'python3', 'openssl', 'npm ci']) expect(onCreateCommand).toContain(word);
});

it('package.json has at most 14 scripts', () => {
  expect(Object.keys(scripts).length).toBeLessThanOrEqual(14);
});
