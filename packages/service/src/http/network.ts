/** The network that a sender counts as: the owner of one IPv6 address has the 2^64 addresses of its /64 as well. */
import { isIPv6 } from 'node:net';

/** Returns an IPv4 address as it is, even if it is written as IPv6; of an IPv6 address the first 64 bits. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const groups = groupsOf(address);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) {
    const [high = 0, low = 0] = groups.slice(6);
    return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

const GROUPS = 8;

/** Returns the eight numbers of an address. `::` replaces zeros, and the last two numbers may be written as IPv4. */
function groupsOf(address: string): readonly number[] {
  const [bare = ''] = address.split('%');
  const [before = '', after] = bare.split('::');
  const [first, last] = [numbersOf(before), numbersOf(after ?? '')];
  const missing = Array.from({ length: GROUPS - first.length - last.length }, () => 0);
  return [...first, ...missing, ...last];
}

function numbersOf(groups: string): readonly number[] {
  if (groups === '') return [];
  return groups.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}
