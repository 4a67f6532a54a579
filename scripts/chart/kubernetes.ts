/** Holds documents against the types that `kubernetes-types` made from Kubernetes' own OpenAPI: the compiler finds unknown and wrong fields. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';

export interface KubernetesDocument {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The errors of the compiler for these documents; empty if every document is valid in Kubernetes. */
export function kubernetesProblems(documents: readonly KubernetesDocument[]): string {
  const folder = join(ROOT, 'node_modules/.cache/chart');
  const file = join(folder, `documents-${process.pid}.ts`);
  mkdirSync(folder, { recursive: true });
  const lines = documents.map((document, n) => {
    const group = document.apiVersion.includes('/') ? document.apiVersion : `core/${document.apiVersion}`;
    return `export const document${n}: import('kubernetes-types/${group}').${document.kind} = ${JSON.stringify(document, null, 1)};\n`;
  });
  writeFileSync(file, lines.join(''));
  const options = [
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--module',
    'preserve',
    '--moduleResolution',
    'bundler',
    '--types',
    '',
  ];
  const { status, stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), [...options, file], { encoding: 'utf8' });
  rmSync(file);
  return status === 0 ? '' : stdout;
}
