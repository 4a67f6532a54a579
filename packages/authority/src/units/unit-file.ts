/**
 * The file of one unit: the secret of an epoch and the names that were used under it live and die in it together, and it is never older
 * than it was. Records are only appended, and each is on the disk before `append` returns.
 *
 *     file   = frame*                  frame = u32 length | u32 checksum | payload
 *     first payload = u64 inode | u64 time of birth | content
 *
 * A checksum is the CRC-32 of the payload, continued from the checksum before it. A file with another inode is a copy, and one that does
 * not read to its end may have lost records: both are gone, because their secret must not outlive a name. The time of birth is there
 * because file systems give the inode of a deleted file to the next one (on those that do not know it, it is zero).
 */
import { type FileHandle, open, readFile, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';

const HEAD_BYTES = 8;
const IDENTITY_BYTES = 16;

export class UnitFile {
  readonly #path: string;
  readonly #file: FileHandle;
  #length = 0;
  #checksum = 0;
  #failure: { readonly error: unknown } | undefined;

  private constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  /** The file and its name are on the disk when this returns. */
  static async create(path: string, content: Uint8Array): Promise<UnitFile> {
    const file = new UnitFile(path, await open(path, 'wx+', 0o600));
    try {
      await file.append(Buffer.concat([await identityOf(file.#file), content]));
      await flushNames(dirname(path));
    } catch (error) {
      await file.destroy().catch(() => undefined);
      throw error;
    }
    return file;
  }

  /** The contents of all records, the first one first; undefined if the unit is gone. */
  static async open(path: string): Promise<{ file: UnitFile; contents: readonly Uint8Array[] } | undefined> {
    const file = new UnitFile(path, await open(path, 'r+'));
    const [first, ...others] = file.#read(await readFile(path)) ?? [];
    const isOwn = first !== undefined && (await identityOf(file.#file)).equals(first.subarray(0, IDENTITY_BYTES));
    if (isOwn) return { file, contents: [first.subarray(IDENTITY_BYTES), ...others] };
    await file.close();
    return undefined;
  }

  /** The record is on the disk when this returns. After a failure either nothing was appended, or every later call fails as well. */
  async append(payload: Uint8Array): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error;
    const checksum = crc32(payload, this.#checksum);
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt32LE(payload.length);
    head.writeUInt32LE(checksum, 4);
    const frame = Buffer.concat([head, payload]);
    await this.#write(frame).catch((error: unknown) => this.#takeBack(error));
    try {
      await this.#file.sync();
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
    this.#length += frame.length;
    this.#checksum = checksum;
  }

  /** Nobody knows what is on the disk: only the next start reads it. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Overwrites the file, and removes it. */
  async destroy(): Promise<void> {
    this.#failure = { error: new Error('the unit was destroyed') };
    try {
      await this.#file.write(Buffer.alloc(this.#length), 0, this.#length, 0);
      await this.#file.sync();
    } finally {
      await this.close();
      await removeUnitFile(this.#path);
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #write(frame: Buffer): Promise<void> {
    for (let done = 0; done < frame.length; ) {
      const { bytesWritten } = await this.#file.write(frame, done, frame.length - done, this.#length + done);
      done += bytesWritten;
    }
  }

  /** A full disk: no part of the record may stay, or the file would not read to its end. */
  async #takeBack(error: unknown): Promise<never> {
    try {
      await this.#file.truncate(this.#length);
      await this.#file.sync();
    } catch {
      this.#failure = { error };
    }
    throw error;
  }

  /** Undefined if the bytes do not read to their end. */
  #read(bytes: Buffer): readonly Buffer[] | undefined {
    const payloads: Buffer[] = [];
    while (this.#length < bytes.length) {
      if (bytes.length - this.#length < HEAD_BYTES) return undefined;
      const start = this.#length + HEAD_BYTES;
      const payload = bytes.subarray(start, start + bytes.readUInt32LE(this.#length));
      const checksum = crc32(payload, this.#checksum);
      const isWhole = payload.length > 0 && payload.length === bytes.readUInt32LE(this.#length);
      if (!isWhole || checksum !== bytes.readUInt32LE(this.#length + 4)) return undefined;
      payloads.push(payload);
      this.#length = start + payload.length;
      this.#checksum = checksum;
    }
    return payloads;
  }
}

export async function removeUnitFile(path: string): Promise<void> {
  await unlink(path);
  await flushNames(dirname(path));
}

/** Creations and removals in the folder survive a power cut. Windows cannot open folders and does not need this. */
async function flushNames(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const opened = await open(folder, 'r');
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}

async function identityOf(file: FileHandle): Promise<Buffer> {
  const { ino, birthtimeNs } = await file.stat({ bigint: true });
  const identity = Buffer.alloc(IDENTITY_BYTES);
  identity.writeBigUInt64LE(BigInt.asUintN(64, ino));
  identity.writeBigUInt64LE(BigInt.asUintN(64, birthtimeNs), 8);
  return identity;
}
