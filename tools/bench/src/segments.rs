//! Images of panoptic segments as COCO's two files with folders of PNG files.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use serde_json::{Value, json};

use crate::inputs::{Input, Random};

const SIZE: [usize; 2] = [640, 480];
const CATEGORIES: usize = 133;
/// The number of categories that are things, as in COCO.
const THINGS: usize = 80;

/// The points whose nearest pixels are segments, and the waves of their borders.
struct Cells {
    points: Vec<[f64; 2]>,
    phase: f64,
}

impl Cells {
    /// The index of the segment at a pixel.
    fn at(&self, x: usize, y: usize) -> usize {
        let (x, y) = (x as f64, y as f64);
        let x = x + 4.0 * (y / 11.0 + self.phase).sin();
        let y = y + 4.0 * (x / 7.0 + self.phase).sin();
        let distance = |[a, b]: &[f64; 2]| (x - a).powi(2) + (y - b).powi(2);
        let distances = self.points.iter().map(distance).enumerate();
        let nearest = distances.min_by(|a, b| a.1.total_cmp(&b.1));
        nearest.map_or(0, |(index, _)| index)
    }
}

/// `input.size` images of `input.width` segments, the first of which is VOID in the reference. The prediction has moved
/// points, and another category for every seventh segment.
pub(crate) fn write(random: &mut Random, input: &Input, folder: &Path) -> io::Result<()> {
    let mut sides: [Vec<Value>; 2] = Default::default();
    for side in ["r", "p"] {
        std::fs::create_dir(folder.join(side))?;
    }
    for image in 1..=input.size {
        let [width, height] = SIZE.map(|side| side as f64);
        let points: Vec<[f64; 2]> = (0..input.width)
            .map(|_| [random.unit() * width, random.unit() * height])
            .collect();
        let moved = |random: &mut Random, [x, y]: &[f64; 2]| {
            [x + 6.0 * random.normal(), y + 6.0 * random.normal()]
        };
        let moved = points.iter().map(|point| moved(random, point)).collect();
        let phase = random.unit();
        let categories: Vec<usize> = points
            .iter()
            .map(|_| 1 + random.below(CATEGORIES))
            .collect();
        let first_id = 1 + random.below(1 << 23);
        for (index, points) in [points, moved].into_iter().enumerate() {
            let side = ["r", "p"][index];
            let cells = Cells {
                points,
                phase: phase + 0.2 * index as f64,
            };
            let mut areas = vec![0_u32; input.width];
            let name = format!("{image:012}.png");
            let ids = |cell: usize| match (index, cell) {
                (0, 0) => 0,
                _ => (first_id + 977 * cell + index) as u32,
            };
            let mut bytes = Vec::new();
            for y in 0..SIZE[1] {
                for x in 0..SIZE[0] {
                    let cell = cells.at(x, y);
                    areas[cell] += 1;
                    bytes.extend_from_slice(&ids(cell).to_le_bytes()[..3]);
                }
            }
            png(&folder.join(side).join(&name), &bytes)?;
            let present = ((1 - index)..input.width).filter(|cell| areas[*cell] > 0);
            let segments = present.map(|cell| {
                let other = usize::from(index == 1 && cell % 7 == 6);
                let category = 1 + (categories[cell] - 1 + other) % CATEGORIES;
                json!({"id": ids(cell), "category_id": category, "area": areas[cell], "iscrowd": 0})
            });
            let segments: Vec<Value> = segments.collect();
            sides[index]
                .push(json!({"image_id": image, "file_name": name, "segments_info": segments}));
        }
    }
    let categories: Vec<Value> = (1..=CATEGORIES)
        .map(|id| json!({"id": id, "name": id.to_string(), "isthing": u8::from(id <= THINGS)}))
        .collect();
    for (side, annotations) in ["r", "p"].into_iter().zip(sides) {
        let whole = json!({"annotations": annotations, "categories": categories});
        std::fs::write(folder.join(format!("{side}.json")), whole.to_string())?;
    }
    Ok(())
}

fn png(path: &Path, pixels: &[u8]) -> io::Result<()> {
    let [width, height] = SIZE.map(|side| side as u32);
    let file = BufWriter::new(File::create(path)?);
    let mut encoder = png::Encoder::new(file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    Ok(writer.finish()?)
}
