/** A unit's file reads to its end or is gone, is no copy, and its records are on the disk in order. */
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { UnitFile } from '../src/units/unit-file.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'basa-unit-'));
  path = join(folder, 'unit');
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const bytes = (text: string): Uint8Array => Buffer.from(text);
async function written(...records: readonly string[]): Promise<Buffer> {
  const [first = 'secret', ...others] = records;
  const file = await UnitFile.create(path, bytes(first));
  for (const record of others) await file.append(bytes(record));
  await file.close();
  return readFileSync(path);
}
async function readBack(): Promise<readonly string[] | undefined> {
  const opened = await UnitFile.open(path);
  await opened?.file.close();
  return opened?.contents.map((content) => Buffer.from(content).toString());
}
/** The methods that all open files share. */
async function handles(): Promise<FileHandle> {
  const probe = await open(folder, 'r');
  await probe.close();
  return Object.getPrototypeOf(probe) as FileHandle;
}

describe('a unit', () => {
  it('is read back as it was written, and continued', async () => {
    await written('secret', 'one', 'two');
    expect(await readBack()).toEqual(['secret', 'one', 'two']);
    const opened = await UnitFile.open(path);
    await opened?.file.append(bytes('three'));
    await opened?.file.close();
    expect(await readBack()).toEqual(['secret', 'one', 'two', 'three']);
  });

  it('of an epoch that exists is not replaced', async () => {
    await written();
    await expect(UnitFile.create(path, bytes('other'))).rejects.toMatchObject({ code: 'EEXIST' });
    expect(await readBack()).toEqual(['secret']);
  });

  it('may be renamed with its folder', async () => {
    await written('secret', 'one');
    const other = `${folder}.moved`;
    renameSync(folder, other);
    path = join(other, 'unit');
    expect(await readBack()).toEqual(['secret', 'one']);
    renameSync(other, folder);
  });

  it('can be read by its owner only', async () => {
    await written();
    expect(statSync(path).mode & 0o077).toBe(0);
  });
});

describe('a unit is gone', () => {
  it('wherever its last record is torn, and where zeros follow it', async () => {
    const whole = await written('secret', 'one', 'two');
    const ends = [0, 30, 41, 52]; // the ends of its records: there it reads as an older unit, which only snapshots make
    expect(whole.length).toBe(52);
    for (let length = 0; length < whole.length; length++) {
      writeFileSync(path, whole.subarray(0, length));
      expect([length, (await readBack()) === undefined]).toEqual([length, length === 0 || !ends.includes(length)]);
    }
    writeFileSync(path, Buffer.concat([whole, Buffer.alloc(16)]));
    expect(await readBack()).toBeUndefined();
  });

  it('if any bit of it changed', async () => {
    const whole = await written('secret', 'one', 'two');
    for (let place = 0; place < whole.length; place++) {
      const changed = Buffer.from(whole);
      changed[place] = (changed[place] as number) ^ 1;
      writeFileSync(path, changed);
      expect([place, await readBack()]).toEqual([place, undefined]);
    }
  });

  it('if a record in the middle is missing', async () => {
    const whole = await written('secret', 'one', 'two');
    writeFileSync(path, Buffer.concat([whole.subarray(0, 30), whole.subarray(41)]));
    expect(await readBack()).toBeUndefined();
  });

  it('if it is a copy, even in the place and with the inode of the original', async () => {
    await written('secret', 'one');
    const copy = join(folder, 'copy');
    copyFileSync(path, copy);
    // On ext4 the new file gets the inode of the deleted one.
    unlinkSync(path);
    copyFileSync(copy, path);
    expect(await readBack()).toBeUndefined();
    path = copy;
    expect(await readBack()).toBeUndefined();
  });
});

describe('on the disk', () => {
  it('is the file, then its name, before a unit is created; and every record before it is appended', async () => {
    const prototype = await handles();
    const sync = prototype.sync;
    const order: string[] = [];
    vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
      const isFolder = (await this.stat()).isDirectory();
      const length = existsSync(path) ? readFileSync(path).length : 'removed';
      order.push(isFolder ? `folder: ${length}` : `file: ${length}`);
      return sync.call(this);
    });
    const file = await UnitFile.create(path, bytes('secret'));
    expect(order.splice(0)).toEqual(['file: 30', 'folder: 30']);
    await file.append(bytes('one'));
    expect(order.splice(0)).toEqual(['file: 41']);
    await file.destroy();
    expect(order).toEqual(['file: 41', 'folder: removed']);
  });

  it('a destroyed unit leaves no byte of its secret', async () => {
    const file = await UnitFile.create(path, bytes('secret'));
    let left: Buffer | undefined;
    const prototype = await handles();
    const sync = prototype.sync;
    vi.spyOn(prototype, 'sync').mockImplementationOnce(function (this: FileHandle) {
      left = readFileSync(path);
      return sync.call(this);
    });
    await file.destroy();
    expect(left?.every((byte) => byte === 0)).toBe(true);
    expect(existsSync(path)).toBe(false);
    await expect(file.append(bytes('one'))).rejects.toThrow('destroyed');
  });

  it('a record for which there is no room is taken back, and the next one is appended', async () => {
    const file = await UnitFile.create(path, bytes('secret'));
    const prototype = await handles();
    const write = prototype.write as unknown as (...given: readonly unknown[]) => Promise<never>;
    vi.spyOn(prototype, 'write')
      .mockImplementationOnce(function (this: FileHandle, ...[frame, offset, , at]: readonly unknown[]) {
        return write.call(this, frame, offset, 5, at);
      } as typeof prototype.write)
      .mockRejectedValueOnce(Object.assign(new Error('no space'), { code: 'ENOSPC' }));
    await expect(file.append(bytes('one'))).rejects.toThrow('no space');
    expect(readFileSync(path).length).toBe(30);
    await file.append(bytes('two'));
    await file.close();
    expect(await readBack()).toEqual(['secret', 'two']);
  });

  it('after a flush that failed, nothing is appended any more', async () => {
    const file = await UnitFile.create(path, bytes('secret'));
    vi.spyOn(await handles(), 'sync').mockRejectedValueOnce(new Error('the disk failed'));
    await expect(file.append(bytes('one'))).rejects.toThrow('the disk failed');
    await expect(file.append(bytes('two'))).rejects.toThrow('the disk failed');
    await file.close();
  });

  it('a unit whose name cannot be made durable is not created', async () => {
    const prototype = await handles();
    const sync = prototype.sync;
    vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
      if ((await this.stat()).isDirectory()) throw new Error('the disk failed');
      return sync.call(this);
    });
    await expect(UnitFile.create(path, bytes('secret'))).rejects.toThrow('the disk failed');
    expect(existsSync(path)).toBe(false);
  });
});
