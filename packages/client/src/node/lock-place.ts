/** The facts about a folder that its lock needs: the kernel, and whether other machines may use the same disk. */

import { randomBytes } from 'node:crypto';
import { readFile, statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import { ascii, toHex } from '@basa/masking';
import { nodeSuite } from '@basa/runtime/node';

export interface LockPlace {
  /** One name for all containers of a machine, a different one after a reboot. */
  readonly machine: string;
  /** True if several machines may mount the file system. */
  readonly isShared: boolean;
}

/** Numbers of `statfs(2)` of file systems that belong to one kernel: a claim there is of this kernel, or of a dead one. */
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

/** If the kernel gives no identifier, returns a unique name, so that the claim is never attributed to this machine. */
async function bootId(): Promise<string> {
  try {
    return await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
  } catch {
    return randomBytes(16).toString('hex');
  }
}
