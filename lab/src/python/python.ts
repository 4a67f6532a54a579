/** Starts the client in Python from its folder in the repository. */
import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MissingError } from '@basa/testkit/programs/missing.ts';
import { ROOT } from '@basa/testkit/root.ts';

/** The Python interpreter, for example that of a virtual environment with PyTorch. */
export const PYTHON = process.env['BASA_PYTHON'] ?? 'python3';
export const PYTHON_FOLDER = join(ROOT, 'clients/python');

/** Returns the versions of Python and of its packages. If something is missing, the error says how to install it. */
export function foundPython(): string {
  const program =
    'import sys, cryptography, numpy; print(sys.version.split()[0], cryptography.__version__, numpy.__version__)';
  const { status, stdout, error } = spawnSync(PYTHON, ['-c', program], { encoding: 'utf8' });
  if (status !== 0) {
    const missing = error === undefined ? 'its package cryptography or numpy' : PYTHON;
    throw new MissingError(
      `${missing} is missing; on Debian, install it with \`apt install python3-cryptography python3-numpy\``,
    );
  }
  const [python, cryptography, numpy] = stdout.trim().split(' ');
  return `Python ${python} with cryptography ${cryptography} and numpy ${numpy}`;
}

export function hasModule(name: string): boolean {
  return spawnSync(PYTHON, ['-c', `import ${name}`]).status === 0;
}

/** Runs the client once with these environment variables. */
export async function runPython(
  words: readonly string[],
  variables: Readonly<Record<string, string>>,
  cwd: string = PYTHON_FOLDER,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const { BASA_ENROLMENT_TOKEN: _, ...environment } = process.env;
  const env = { ...environment, PYTHONPATH: PYTHON_FOLDER, ...variables };
  return await promisify(execFile)(PYTHON, [...words], { cwd, env, maxBuffer: 2 ** 26 });
}
