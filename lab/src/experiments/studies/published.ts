/** Table 1 of the paper: seconds to the target, mean and deviation. */

const PAPER_TABLE_1: Readonly<Record<string, readonly (readonly [beta: number, mean: number, deviation: number])[]>> = {
  'MNIST no SA': [
    [0, 9.97, 0.18],
    [3, 36.66, 1.56],
    [6, 46.61, 1.93],
  ],
  'MNIST BASA paper': [
    [0, 22.62, 0.23],
    [3, 40.17, 2.71],
    [6, 57.01, 2.24],
  ],
  'MNIST SecAgg': [
    [0, 7.85, 0.31],
    [3, 129.04, 10.12],
    [6, 164.52, 23.69],
  ],
  'MNIST LSA sync': [
    [0, 7.73, 1.02],
    [3, 128.93, 9.29],
    [6, 152.12, 12.26],
  ],
  'MNIST LSA async': [
    [0, 16.95, 0.35],
    [3, 116.58, 6.51],
    [6, 149.25, 8.81],
  ],
  'FEMNIST no SA': [
    [0, 54.63, 0.95],
    [3, 154.08, 2.16],
    [6, 421.51, 1.92],
  ],
  'FEMNIST BASA paper': [
    [0, 248.51, 5.05],
    [3, 251.09, 3.92],
    [6, 475.89, 7.41],
  ],
  'FEMNIST SecAgg': [
    [0, 366.45, 14.62],
    [3, 849.12, 20.02],
    [6, 1434.01, 31.14],
  ],
  'FEMNIST LSA sync': [
    [0, 199.88, 10.13],
    [3, 691.2, 8.05],
    [6, 1229.09, 33.56],
  ],
  'FEMNIST LSA async': [
    [0, 361.85, 4.84],
    [3, 1005.86, 27.13],
    [6, 2055.27, 37.85],
  ],
  'CIFAR-10 no SA': [
    [0, 85.34, 0.43],
    [3, 250.98, 2.33],
    [6, 477.96, 8.34],
  ],
  'CIFAR-10 BASA paper': [
    [0, 107.39, 1.02],
    [3, 256.52, 2.26],
    [6, 479.03, 5.02],
  ],
  'CIFAR-10 SecAgg': [
    [0, 158.58, 6.93],
    [3, 737.05, 21.73],
    [6, 1248.39, 29.84],
  ],
  'CIFAR-10 LSA sync': [
    [0, 90.67, 3.2],
    [3, 683.15, 19.41],
    [6, 1143.12, 56.92],
  ],
  'CIFAR-10 LSA async': [
    [0, 326.56, 1.41],
    [3, 1166.71, 15.74],
    [6, 2280.76, 43.79],
  ],
};

export function publishedSeconds(dataset: string, protocol: string, beta: number): number | undefined {
  return PAPER_TABLE_1[`${dataset} ${protocol}`]?.find(([at]) => at === beta)?.[1];
}
