/** Small bodies of uploads, written in the transaction of the record that counts on them. */
import type { SqlSession } from '@basa/service';

/** A whole body, and the name that it is written under. */
export interface SmallBody {
  readonly key: string;
  readonly bytes: Uint8Array;
}

const PUT = 'INSERT INTO bodies (name, bytes) VALUES (?, ?) ON CONFLICT (name) DO NOTHING';

/** A body that is there stays. */
export async function putBody({ query }: SqlSession, { key, bytes }: SmallBody): Promise<void> {
  await query(PUT, key, bytes);
}
