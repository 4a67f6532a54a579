/**
 * One upload of a device. It is stored before a byte of it leaves; after a crash the device sends the stored bytes or none.
 *
 *     shot --acknowledged--> acknowledged
 */
import type { Crc32, RandomBytes, Suite, VectorKernel } from '@basa/masking';
import type { Ctx, Millis } from '../wire/brands.ts';
import { type ShotUpload, uploadNameOf } from '../wire/one-shot/upload.ts';

/** The outside of a device. */
export interface UserPorts {
  readonly suite: Suite;
  readonly randomBytes: RandomBytes;
  /** Packs the upload; without it, a loop in TypeScript does. */
  readonly kernel?: VectorKernel | undefined;
  /** Of the runtime, if it has one. */
  readonly crc32?: Crc32 | undefined;
}

/** Holds no secret: its bytes are those that the server gets. */
export interface UserSession {
  readonly step: 'shot' | 'acknowledged';
  /** The hash of its header. */
  readonly name: Ctx;
  readonly upload: ShotUpload;
  /** The version that the update was trained on. */
  readonly version: number;
  /** When every epoch that it names has closed, by the device's clock. */
  readonly closes: Millis;
}

export type UserRecord =
  /** Stored with the body. After this, only these bytes are ever sent. */
  ({ readonly kind: 'shot' } & Pick<UserSession, 'upload' | 'version' | 'closes'>) | { readonly kind: 'acknowledged' };

/** The session after one more record; undefined before the first. */
export function evolveSession(suite: Suite, session: UserSession | undefined, entry: UserRecord): UserSession {
  if (entry.kind === 'shot') {
    const { upload, version, closes } = entry;
    return { step: 'shot', name: uploadNameOf(suite, upload.header), upload, version, closes };
  }
  if (session === undefined) throw new Error(`a session does not start with "${entry.kind}"`);
  return { ...session, step: 'acknowledged' };
}
