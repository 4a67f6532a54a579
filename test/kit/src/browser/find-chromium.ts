/** Finds a Chromium: the variable CHROMIUM, or the usual places of the system. */
import { existsSync } from 'node:fs';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export function findChromium(): string | undefined {
  return [process.env['CHROMIUM'], ...PLACES].find((path) => path !== undefined && existsSync(path));
}
