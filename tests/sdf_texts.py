"""An SDF text that several tests use, written by hand."""

BODY = (
    "<inertial><mass>2</mass><inertia><ixx>.02</ixx><iyy>.03</iyy><izz>.04</izz></inertia>"
    "</inertial>"
)
ARM = "\n".join([
    '<?xml version="1.0"?>',
    '<sdf version="1.9"><model name="two links"><pose degrees="true">0 0 0 90 0 0</pose>',
    f'<link name="foot">{BODY}</link>',
    f'<link name="one"><pose relative_to="turn"/>{BODY}</link>',
    f'<link name="two">{BODY}</link>',
    '<frame name="mount" attached_to="one"><pose>0.3 0 0 0 0 0</pose></frame>',
    '<joint name="turn" type="revolute"><pose relative_to="foot">0 0 1 0 0 0</pose>',
    (
        "<parent>foot</parent><child>one</child><axis><xyz>0 0 1</xyz><limit><lower>-1e16</lower>"
        "<upper>1e16</upper><effort>-1</effort><velocity>-1</velocity></limit></axis></joint>"
    ),
    '<joint name="slide" type="prismatic"><pose relative_to="mount"/><parent>mount</parent>',
    (
        "<child>two</child><axis><xyz>1 0 0</xyz><limit><lower>0</lower><upper>0.2</upper>"
        "<effort>30</effort><velocity>2</velocity></limit>"
    ),
    "<dynamics><damping>0.4</damping><friction>0.2</friction></dynamics></axis>",
    "<drake:rotor_inertia>0.001</drake:rotor_inertia><drake:gear_ratio>10</drake:gear_ratio>",
    "</joint></model></sdf>",
])  # fmt: skip
