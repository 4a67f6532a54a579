/**
 * The tests in a browser need a Chromium. Where there is none, on a Debian machine that lets us, it is installed;
 * elsewhere those tests fail and say what to do.
 */
import '@basa/testkit/programs/help.ts';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { findChromium } from '@basa/testkit/browser/find-chromium.ts';

const mayInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
if (findChromium() === undefined && mayInstall) {
  console.error('Installing Chromium (once) ...');
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'chromium']]) {
    spawnSync('apt-get', ['-qq', ...args], { stdio: ['ignore', 2, 2] });
  }
}
