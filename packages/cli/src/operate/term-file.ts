/** The file of a term, which the operators pass on from one to the next. */
import type { WriteFileOptions } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import type { Term } from '@basa/protocol';
import { CommandError } from '../shell/command.ts';
import { needed } from '../shell/flag.ts';

export const TERM_FLAG = {
  term: needed({ value: 'file', help: 'file with the term, written by `basa succession propose`' }),
};

export async function termIn(file: string): Promise<Term> {
  const { fromHex } = await import('@basa/masking');
  const { termCodec } = await import('@basa/protocol');
  const hex = (await readFile(file, 'utf8')).trim();
  try {
    return termCodec.decode(fromHex(hex) ?? new Uint8Array());
  } catch (error) {
    throw new CommandError(`--term ${file}: ${(error as Error).message}`);
  }
}

export async function keepTerm(file: string, term: Term): Promise<void> {
  const { toHex } = await import('@basa/masking');
  const { termCodec } = await import('@basa/protocol');
  await written(file, `${toHex(termCodec.encode(term))}\n`);
}

export async function written(file: string, words: string, options: WriteFileOptions = {}): Promise<void> {
  await writeFile(file, words, options).catch((error: unknown) => {
    throw new CommandError(`${file} cannot be written: ${(error as Error).message}`);
  });
}
