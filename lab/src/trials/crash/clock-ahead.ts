/** A preload (`node --import`): the clock of the process is ahead by BASA_AHEAD_MS, so that nobody waits for a deadline. */
const aheadMs = Number(process.env['BASA_AHEAD_MS'] ?? 0);
const real = Date.now;
Date.now = () => real() + aheadMs;
