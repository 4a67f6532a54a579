/** The contents of a backup, with a hash for every file. It is written last: a folder without it is not a backup. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { closed, hexText } from '../http/schemas.ts';
import { StartError } from '../process/start-error.ts';
import type { Application } from '../sql/formats.ts';
import { filesBelow, flush, hashOf } from './files.ts';

const MANIFEST_FILE = 'manifest.json';

const schema = Type.Object(
  {
    version: Type.Literal(1),
    application: Type.Union([Type.Literal('server'), Type.Literal('authority')]),
    madeAt: Type.String(),
    files: Type.Array(
      Type.Object({ path: Type.String(), bytes: Type.Integer({ minimum: 0 }), sha256: hexText(32) }, closed),
    ),
  },
  closed,
);
const checker = Compile(schema);

export type Manifest = Type.Static<typeof schema>;

export async function writeManifest(folder: string, application: Application): Promise<Manifest> {
  const paths = [...(await filesBelow(folder))].sort();
  const files: Manifest['files'] = [];
  for (const path of paths) files.push({ path, ...(await hashOf(join(folder, path))) });
  const manifest: Manifest = { version: 1, application, madeAt: new Date().toISOString(), files };
  const fresh = join(folder, `${MANIFEST_FILE}.new`);
  await writeFile(fresh, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  await flush(fresh);
  await rename(fresh, join(folder, MANIFEST_FILE));
  await flush(folder);
  return manifest;
}

/** Throws a `StartError` if it is not a backup of this service, or if a file is missing or damaged. */
export async function checkManifest(folder: string, application: Application): Promise<Manifest> {
  const manifest = await readManifest(folder);
  if (manifest.application !== application)
    throw new StartError(
      'dataFolder',
      `${folder} is a backup of the ${manifest.application}, not of the ${application}; give another folder`,
    );
  for (const { path, bytes, sha256 } of manifest.files) {
    const found = await hashOf(join(folder, checkedPath(folder, path))).catch(() => undefined);
    if (found === undefined) throw damaged(folder, `${path} is missing`);
    if (found.bytes !== bytes || found.sha256 !== sha256) throw damaged(folder, `${path} was changed since the backup`);
  }
  return manifest;
}

async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, MANIFEST_FILE), 'utf8').catch(() => undefined);
  if (text === undefined)
    throw new StartError(
      'dataFolder',
      `${folder} has no ${MANIFEST_FILE}, so it is not a complete backup; give another folder`,
    );
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw damaged(folder, `${MANIFEST_FILE} is not JSON`);
  }
  if (!checker.Check(parsed)) throw damaged(folder, `this version does not know the format of ${MANIFEST_FILE}`);
  return parsed;
}

/** Rejects paths outside the folder, so that a manifest that was tampered with cannot write anywhere else. */
function checkedPath(folder: string, path: string): string {
  if (path.split('/').some((part) => part === '' || part === '.' || part === '..' || part.includes('\\')))
    throw damaged(folder, `${MANIFEST_FILE} names ${JSON.stringify(path)}`);
  return path;
}

function damaged(folder: string, what: string): StartError {
  return new StartError('dataFolder', `the backup in ${folder} is damaged: ${what}; use another backup`);
}
