/**
 * The tests in a browser need a Chromium. If there is none, it is installed on a Debian machine that allows it;
 * otherwise those tests fail and say what to do.
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
