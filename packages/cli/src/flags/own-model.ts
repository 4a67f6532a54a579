/** Reads a user's own model: a module that exports it with its data, or a JSON file that holds only the network. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Model, OwnModel } from '@basa/learning';
import { CommandError } from '../shell/command.ts';

const MODULE = /\.[cm]?[jt]s$/;

export function isModelFile(name: string): boolean {
  return MODULE.test(name) || name.endsWith('.json');
}

/** The content of a file; only a module has more than the network. */
export async function loadModel(file: string): Promise<Pick<OwnModel, 'model'> & Partial<OwnModel>> {
  checkThere(file);
  return file.endsWith('.json') ? { model: await readNetwork(file) } : loadOwnModel(file);
}

export async function loadOwnModel(file: string): Promise<OwnModel> {
  if (!MODULE.test(file))
    throw new CommandError(
      `${file} is not a module; give a .ts, .mts, .js or .mjs file that exports \`model\` and \`data\``,
    );
  checkThere(file);
  const own = await importModule(resolve(file)).catch((error: Error) => {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${file} cannot be loaded: ${error.message.split('\n')[0]}`);
  });
  checkExports(file, own);
  return own as unknown as OwnModel;
}

function checkThere(file: string): void {
  if (!existsSync(file)) throw new CommandError(`${file} does not exist; check the path`);
}

async function readNetwork(file: string): Promise<Model> {
  const { readNetworkJson } = await import('@basa/learning');
  const { parseJson } = await import('@basa/service');
  try {
    return readNetworkJson(parseJson(await readFile(file, 'utf8')));
  } catch (error) {
    throw new CommandError(`${file}: ${(error as Error).message}`);
  }
}

/**
 * Node 22.18 and newer read TypeScript. Older versions need tsx, installed in the folder of the file. In a clone, our loader reads the
 * file.
 */
async function importModule(path: string): Promise<Record<string, unknown>> {
  const isRead = import.meta.url.endsWith('.ts') || Boolean((process.features as { typescript?: unknown }).typescript);
  if (/\.[cm]?ts$/.test(path) && !isRead) await registerTsx(path);
  return import(pathToFileURL(path).href);
}

async function registerTsx(path: string): Promise<void> {
  let found: string;
  try {
    found = createRequire(path).resolve('tsx/esm');
  } catch {
    throw new CommandError(
      `Node ${process.versions.node} cannot read TypeScript; run \`npm install --save-dev tsx\` in the folder of ${path}, or give a .js or .mjs file`,
    );
  }
  await import(pathToFileURL(found).href); // like `node --import tsx/esm`
}

function checkExports(file: string, own: Readonly<Record<string, unknown>>): void {
  const { clip, model, data, test, trainer } = own;
  const isModel = typeof model === 'object' && model !== null && 'dimension' in model && 'manifest' in model;
  if (!isModel) throw new CommandError(`${file} must export \`model\`, the result of defineModel of @basa/learning`);
  if (typeof data !== 'function')
    throw new CommandError(
      `${file} must export \`data\`: a function that takes { device, devices } and returns the examples of one device`,
    );
  if (clip !== undefined && !(typeof clip === 'number' && clip > 0 && clip < Number.POSITIVE_INFINITY))
    throw new CommandError(
      `${file} exports \`clip\`, which is not a positive number; remove it, and \`basa simulate\` measures it`,
    );
  for (const [name, value] of Object.entries({ test, trainer }))
    if (value !== undefined && typeof value !== 'function')
      throw new CommandError(`${file} exports \`${name}\`, which is not a function; make it one, or remove it`);
}
