"""Numbers of a CSV file come back from pandas: to the bit where it is asked for exact reading, and
to 2e-15 by default.

pandas reads floats by default with 17 decimal digits, counting the 0 before the point, so a number
like 0.12345678901234566 loses its last digit: at most 9e-17 of 0.1. A few roundings come on top.
"""

import io
import subprocess
import sys
import unittest

import numpy as np
import pandas as pd

PRINT_DOUBLES = sys.argv.pop(1)


class CsvReaders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = subprocess.run([PRINT_DOUBLES], check=True, capture_output=True,
                                  text=True).stdout

    def read(self, **options):
        table = pd.read_csv(io.StringIO(self.text), **options)
        self.assertEqual(table.number.dtype, np.float64)
        self.assertEqual(len(table), 20000)
        return table.number.to_numpy(), table.bits.to_numpy().view(np.float64)

    def test_pandas_reads_every_bit_with_round_trip(self):
        read, written = self.read(float_precision="round_trip")
        np.testing.assert_array_equal(read.view(np.int64), written.view(np.int64))

    def test_pandas_reads_to_2e_15_without_options(self):
        read, written = self.read()
        self.assertLess(np.max(np.abs(read - written) / np.abs(written)), 2e-15)


if __name__ == "__main__":
    unittest.main()
