/** What a lock must know of the folder it lies in: which kernel this is, and whether others may use the same disk. */

import { randomBytes } from 'node:crypto';
import { readFile, statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import { ascii, toHex } from '@basa/masking';
import { nodeSuite } from '@basa/runtime/node';

export interface LockPlace {
  /** One name for all containers of a machine, another after it was started anew. */
  readonly machine: string;
  /** Whether the file system may be mounted by several machines. */
  readonly isShared: boolean;
}

/** Numbers of `statfs(2)` of file systems that one kernel has to itself: a claim there is of this kernel, or of a dead one. */
const OF_ONE_KERNEL: ReadonlySet<number> = new Set([
  0xef53, // ext2 to ext4
  0x5846_5342, // XFS
  0x9123_683e, // Btrfs
  0x2fc1_2fc1, // ZFS
  0xf2f5_2010, // F2FS
  0x0102_1994, // tmpfs
  0x794c_7630, // overlayfs: the layers of a container
]);

export async function placeOf(folder: string): Promise<LockPlace> {
  return { machine: await machineName(), isShared: !OF_ONE_KERNEL.has((await statfs(folder)).type) };
}

async function machineName(): Promise<string> {
  const boot = process.platform === 'linux' ? await bootId() : hostname();
  return toHex(nodeSuite.sha256(ascii(boot))).slice(0, 16);
}

/** Where the kernel does not tell, a name that no other claim has: such claims are never taken for those of this machine. */
async function bootId(): Promise<string> {
  try {
    return await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
  } catch {
    return randomBytes(16).toString('hex');
  }
}
