/** The chart in deploy/helm/basa: its values, the documents that it renders, and the manifests in deploy/kubernetes, which are written from it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';
import { parse } from 'yaml';

const CHART = join(ROOT, 'deploy/helm/basa');
export const SCHEMA_FILE = join(CHART, 'values.schema.json');
/** Values that the check renders in addition to the defaults. */
export const VALUES_FILES: readonly string[] = readdirSync(join(CHART, 'ci'));
/** Debian's packages put their sources here. */
const GOPATH = '/usr/share/gocode';
const LIBRARIES = ['github.com/Masterminds/sprig', 'sigs.k8s.io/yaml'];
const PARTS = ['configuration', 'nodes', 'service', 'budget'];

export type Values = Readonly<Record<string, unknown>>;
export type Rendered = Readonly<Record<string, string>>;

/** The values of the chart with those of a file in ci/, or with others. */
export function valuesWith(changes: string | Values = {}): Values {
  const read = (file: string) => parse(readFileSync(join(CHART, file), 'utf8'), { version: '1.1' }) as Values;
  return merged(read('values.yaml'), typeof changes === 'string' ? read(`ci/${changes}`) : changes);
}

/** As Helm does: maps are merged, everything else is replaced, and null removes a value. */
function merged(values: Values, changes: Values): Values {
  const isMap = (value: unknown): value is Values =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const all = { ...values };
  for (const [key, change] of Object.entries(changes)) {
    const value = values[key];
    if (change === null) delete all[key];
    else all[key] = isMap(value) && isMap(change) ? merged(value, change) : change;
  }
  return all;
}

/** A sentence that says what is missing to render the chart, or undefined. */
export function missingToRender(): string | undefined {
  const hasGo = spawnSync('go', ['version']).status === 0;
  if (hasGo && LIBRARIES.every((library) => existsSync(join(GOPATH, 'src', library)))) return undefined;
  return 'the Helm chart is not rendered, because Go with sprig is not there; on Debian `apt install golang-go golang-github-masterminds-sprig-dev golang-k8s-sigs-yaml-dev` brings all of it';
}

/** The text of each template, by its file's name without an ending. */
export function render(values: Values): Rendered {
  const folder = join(ROOT, 'node_modules/.cache/chart');
  const program = join(folder, 'render');
  mkdirSync(folder, { recursive: true });
  const env = { ...process.env, GOPATH, GO111MODULE: 'off' };
  execFileSync('go', ['build', '-o', program, 'scripts/chart/render.go'], { cwd: ROOT, env });
  const input = JSON.stringify(values);
  const text = execFileSync(program, [CHART, 'basa', `basa-${String(values['role'])}`], { input, encoding: 'utf8' });
  const files = Object.entries(JSON.parse(text) as Rendered);
  return Object.fromEntries(files.map(([file, rendered]) => [file.replace(/\.\w+$/, ''), rendered.trim()]));
}

export function documentsOf(rendered: Rendered): readonly string[] {
  return PARTS.flatMap((part) => rendered[part] || []);
}

/** The text of deploy/kubernetes/<role>.yaml. */
export function plainManifest(role: string): string {
  const rendered = render(valuesWith(`${role}-values.yaml`));
  const head = `Written by \`npm run write -- chart\` from deploy/helm/basa. Fill in the ConfigMap, then: kubectl apply -f deploy/kubernetes/${role}.yaml

${rendered['NOTES']}`;
  const comment = head.split('\n').map((line) => `# ${line}`.trimEnd());
  return `${comment.join('\n')}\n${documentsOf(rendered).join('\n---\n').replaceAll(/^ +\n/gm, '')}\n`;
}
