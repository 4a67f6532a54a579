/** `npm run gate -- python`: the tests of the client in Python, and its types if mypy is there. Says so if Python or its packages are not. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const cwd = fileURLToPath(new URL('../clients/python', import.meta.url));
const python = process.env['BASA_PYTHON'] ?? 'python3';
const runs = (...words: readonly string[]): boolean =>
  spawnSync(python, [...words], { cwd, stdio: 'inherit' }).status === 0;
const has = (modules: string): boolean => spawnSync(python, ['-c', `import ${modules}`]).status === 0;

if (!has('cryptography, numpy')) {
  console.log(
    `the client in Python is not tested, because ${python} with cryptography and numpy is not there; on Debian \`apt install python3-cryptography python3-numpy\` brings all of it`,
  );
} else {
  const isTested = runs('-W', 'ignore::ResourceWarning', '-m', 'unittest', 'discover', '-s', 'tests', '-t', '.');
  const isTyped = !has('mypy, torch, sklearn') || runs('-m', 'mypy');
  process.exitCode = isTested && isTyped ? 0 : 1;
}
