/** Finds the problems of a tarball before it is installed: by publint, by Are The Types Wrong, and by our own rules. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { checkPackage, createPackageFromTarballData, type Problem } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import type { Tarball } from './pack.ts';

/** Returns sentences; none if the package may be published. */
export async function lintTarball(tarball: Tarball): Promise<readonly string[]> {
  const bytes = new Uint8Array(readFileSync(tarball.file));
  const found = [...ownRules(tarball), ...(await exportsProblems(bytes.buffer)), ...(await typeProblems(bytes))];
  return found.map((sentence) => `${tarball.name}: ${sentence}`);
}

function ownRules({ file, files, manifest }: Tarball): readonly string[] {
  const needed = ['LICENSE', 'README.md'].filter((name) => !files.includes(name)).map((name) => `${name} is missing`);
  const unwanted = files.filter(
    (path) => !/^(package\.json|LICENSE|README\.md|(dist|templates)\/.*)$/.test(path) || path.endsWith('.map'),
  );
  const fields = ['description', 'license', 'engines', 'sideEffects', 'publishConfig'];
  const { access, provenance } = (manifest['publishConfig'] ?? {}) as { access?: unknown; provenance?: unknown };
  const text = execFileSync('tar', ['-xzOf', file], { encoding: 'latin1', maxBuffer: 2 ** 28 });
  return [
    ...needed,
    ...unwanted.map((path) => `${path} does not belong into a package`),
    ...fields.filter((field) => !(field in manifest)).map((field) => `package.json has no ${field}`),
    ...(access === 'public' && provenance === true ? [] : ['publishConfig is not public with provenance']),
    ...(/^\/\/# sourceMappingURL=/m.test(text) ? ['a file names a source map, and sources are not shipped'] : []),
  ];
}

async function exportsProblems(tarball: ArrayBuffer): Promise<readonly string[]> {
  const { messages, pkg } = await publint({ pack: { tarball }, strict: true });
  return messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code);
}

async function typeProblems(tarball: Uint8Array): Promise<readonly string[]> {
  const result = await checkPackage(createPackageFromTarballData(tarball));
  if (result.types === false) return ['has no types'];
  return result.problems
    .filter((problem) => !isOfOldResolution(problem))
    .map((problem) => `types: ${JSON.stringify(problem)}`);
}

/** The packages are ES modules with an exports map: `require` of old compilers and resolution without one are given up. */
function isOfOldResolution(problem: Problem): boolean {
  return problem.kind === 'CJSResolvesToESM' || ('resolutionKind' in problem && problem.resolutionKind === 'node10');
}
