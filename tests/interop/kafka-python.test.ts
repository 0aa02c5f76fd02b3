// kafka-python, a client written in Python alone.

import { pythonRoundTripTests } from './python-round-trip.ts';

await pythonRoundTripTests({
  name: 'kafka-python',
  packages: ['kafka-python==3.0.12', 'crc32c==2.9.post0', 'python-snappy==0.7.3', 'lz4==4.4.5', 'zstandard==0.25.0'],
  program: 'kafka_python_client.py',
});
