/** Milliseconds of processor time that this process has used: on a shared machine, what others do does not count. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
