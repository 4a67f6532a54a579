/** A preload (`node --import`) that sets the clock of the process ahead by BASA_AHEAD_MS, so that trials do not wait for deadlines. */
const aheadMs = Number(process.env['BASA_AHEAD_MS'] ?? 0);
const real = Date.now;
Date.now = () => real() + aheadMs;
