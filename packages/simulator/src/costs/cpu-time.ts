/** Milliseconds of processor time that this process has used, so that other load on a shared machine does not count. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
